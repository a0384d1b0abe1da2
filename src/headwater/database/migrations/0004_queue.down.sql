drop function change_entries, rescue_expired, extend_leases, settle_requests, claim_suspect, claim_entries, submission_outcome,
    submit_urls;
drop type settlement, submission;
