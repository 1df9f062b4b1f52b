-- CreateIndex
CREATE INDEX "Project_allowedOrigins_idx" ON "Project" USING GIN ("allowedOrigins");
