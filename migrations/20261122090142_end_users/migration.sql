-- AlterTable
ALTER TABLE "Project" ADD COLUMN     "allowedOrigins" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "JwtKey" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "label" TEXT NOT NULL,
    "publicKeyPem" TEXT NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "JwtKey_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateIndex
CREATE INDEX "JwtKey_projectId_active_id_idx" ON "JwtKey"("projectId", "active", "id");

-- CreateIndex
CREATE INDEX "JwtKey_id_idx" ON "JwtKey"("id");

-- AddForeignKey
ALTER TABLE "JwtKey" ADD CONSTRAINT "JwtKey_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;
