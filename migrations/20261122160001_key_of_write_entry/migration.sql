-- The key of WriteEntry begins with its project. A migration of its own: no table is locked while another one is indexed.
CREATE UNIQUE INDEX "WriteEntry_of_project_key" ON "WriteEntry"("projectId", "taskId", "position");
ALTER TABLE "WriteEntry" DROP CONSTRAINT "WriteEntry_pkey", ADD CONSTRAINT "WriteEntry_pkey" PRIMARY KEY USING INDEX "WriteEntry_of_project_key";
