"""Pure: text in, values out; knows no memory."""
