"""Everything extracted, with its earlier versions: documents, vacancies, raw bodies, and the changes sinks wait for."""
