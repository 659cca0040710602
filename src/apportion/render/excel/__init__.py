"""A month as an Excel workbook: numbers are numbers, dates are dates, and text is never a formula or a link."""
