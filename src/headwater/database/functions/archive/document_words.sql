-- The words of a document, as they stand in documents.search while that is kept.
create function document_words(p_language text, p_title text, p_summary text, p_keywords text[], p_author text, p_text text)
    returns tsvector
    language sql stable parallel safe
return search_vector(p_language, p_title, p_summary, array_to_string(p_keywords, ' ') || ' ' || p_author, p_text);
