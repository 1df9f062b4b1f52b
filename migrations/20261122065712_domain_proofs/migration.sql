-- DropIndex
DROP INDEX "ClaimedDomain_domain_key";

-- AlterTable
ALTER TABLE "ClaimedDomain" ADD COLUMN     "provenDomain" TEXT,
ADD COLUMN     "verifiedTime" TIMESTAMPTZ(3);

-- CreateIndex
CREATE UNIQUE INDEX "ClaimedDomain_provenDomain_key" ON "ClaimedDomain"("provenDomain");

-- CreateIndex
CREATE UNIQUE INDEX "ClaimedDomain_domain_orgId_key" ON "ClaimedDomain"("domain", "orgId");
