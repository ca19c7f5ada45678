"""Texts too long for one sitting: divided into shards, which worker processes translate, and joined in order."""
