"""What was extracted, and what it was before: documents, vacancies, raw bodies, and the changes sinks wait for."""
