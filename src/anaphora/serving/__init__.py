"""An HTTP server of translators, for the clients of LibreTranslate and for its own page."""
