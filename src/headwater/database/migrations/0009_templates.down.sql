drop index documents_hurried;
drop table templates;
drop table learning_hosts;
