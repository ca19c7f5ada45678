"""The page of the server: HTML, CSS and JavaScript, without a build step."""
