-- CreateEnum
CREATE TYPE "RequestKind" AS ENUM ('API', 'PROXY', 'TOKEN');

-- CreateTable
CREATE TABLE "RecordedRequest" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "operationId" TEXT COLLATE "C",
    "connectionId" TEXT COLLATE "C",
    "kind" "RequestKind" NOT NULL,
    "method" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "responseStatus" INTEGER,
    "error" TEXT,
    "isFailed" BOOLEAN NOT NULL,
    "durationMs" INTEGER NOT NULL,
    "requestHeaders" JSONB NOT NULL,
    "responseHeaders" JSONB,
    "responseBody" TEXT,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "RecordedRequest_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateIndex
CREATE INDEX "RecordedRequest_projectId_operationId_id_idx" ON "RecordedRequest"("projectId", "operationId", "id") WHERE ("operationId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "RecordedRequest_projectId_connectionId_id_idx" ON "RecordedRequest"("projectId", "connectionId", "id") WHERE ("connectionId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "RecordedRequest_createTime_idx" ON "RecordedRequest"("createTime");

-- AddForeignKey
ALTER TABLE "RecordedRequest" ADD CONSTRAINT "RecordedRequest_projectId_operationId_fkey" FOREIGN KEY ("projectId", "operationId") REFERENCES "Operation"("projectId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "RecordedRequest" ADD CONSTRAINT "RecordedRequest_projectId_connectionId_fkey" FOREIGN KEY ("projectId", "connectionId") REFERENCES "Connection"("projectId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
