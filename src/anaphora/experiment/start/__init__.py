"""What a run starts from where it does not start from nothing: older runs, language models, word vectors."""
