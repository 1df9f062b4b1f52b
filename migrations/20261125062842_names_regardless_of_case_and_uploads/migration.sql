-- CreateTable
CREATE TABLE "ManifestUpload" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "content" BYTEA NOT NULL,
    "expireTime" TIMESTAMPTZ(3) NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ManifestUpload_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateIndex
CREATE INDEX "ManifestUpload_projectId_expireTime_idx" ON "ManifestUpload"("projectId", "expireTime");

-- CreateIndex
CREATE INDEX "ManifestUpload_expireTime_idx" ON "ManifestUpload"("expireTime");

-- AddForeignKey
ALTER TABLE "ManifestUpload" ADD CONSTRAINT "ManifestUpload_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Names of integrations are unique regardless of case. Prisma has no indexes on expressions: schema.prisma omits this one.
CREATE UNIQUE INDEX "Integration_projectId_lower_name_key" ON "Integration"("projectId", lower("name"));
