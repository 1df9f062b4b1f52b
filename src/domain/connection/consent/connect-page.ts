/** Content of the pages of a connect: the app that sent the person, and further steps at the provider. */
import type { Services } from '../../call.ts';
import { listPageOrigins } from '../../project/origins.ts';

export interface ConnectPage {
  appName: string;
  /** Whether the page names the gateway. A plan may remove the name. */
  isBranded: boolean;
  /** Where the package of the app is installed at the provider, for providers that need one. */
  packageInstallUrl: string | null;
  /** Origins of the project's pages. A page that opened the connect in a window gets its result. */
  origins: readonly string[];
}

/** Null if the project was deleted. */
export async function findConnectPage(
  { database: { prisma } }: Pick<Services, 'database'>,
  { projectId, providerAppId }: { projectId: string; providerAppId: string },
): Promise<ConnectPage | null> {
  const [project, app] = await Promise.all([
    prisma.project.findUnique({
      where: { id: projectId },
      select: { appName: true, brandingRemoval: true, allowedOrigins: true },
    }),
    prisma.providerApp.findUnique({
      where: { projectId_id: { projectId, id: providerAppId } },
      select: { metadata: true },
    }),
  ]);
  if (!project) return null;
  const { appName, brandingRemoval } = project;
  return {
    appName,
    isBranded: !brandingRemoval,
    packageInstallUrl: findPackageInstallUrl(app),
    origins: listPageOrigins(project),
  };
}

/** The URL starts with https: createProviderApp has validated it. */
export function findPackageInstallUrl(app: { metadata: unknown } | null): string | null {
  const { providerParams } = (app?.metadata ?? {}) as {
    providerParams?: { packageInstallURL?: string };
  };
  return providerParams?.packageInstallURL ?? null;
}
