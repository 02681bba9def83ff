"""The report: one HTML file, no network, charts drawn here as SVG."""

from races.report.page import write_report

__all__ = ["write_report"]
