-- Of the lines that were made with a batch: until it ends, they count with what the account keeps.
alter table batches add column input_bytes bigint not null default 0;
