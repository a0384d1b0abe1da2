drop table kept_answers;
drop table operations;
