drop table job_sightings;
drop table jobs;
