"""An HTTP server of translators, for the clients of LibreTranslate and for a page of its own."""
