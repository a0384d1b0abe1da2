drop table sizes;
drop table role_figures;
drop table role_processes;
