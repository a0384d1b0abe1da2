drop table process_lines;
