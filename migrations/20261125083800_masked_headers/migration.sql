-- A worker of a version without sealed headers would send the masks to receivers. Its statements name the old column, so
-- that they fail and it sends nothing.
ALTER TABLE "Destination" RENAME COLUMN "headers" TO "maskedHeaders";
