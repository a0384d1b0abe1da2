drop table audit_log;
drop function keep_audit_log();
drop table login_attempts;
drop table web_sessions;
drop table web_tokens;
drop table web_users;
