"""What telling people takes: the settings of channels, the looking for news, and the sending."""
