"""The network: HTTP requests, verified downloads, and the services that biorel fetches from."""
