"""Vacancies: found in pages, feeds and API answers, then said in the words of one vocabulary. All of it pure."""
