drop table templates;
drop table learning_hosts;
