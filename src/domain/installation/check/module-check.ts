/** Checks that a connection has the metadata that the integration's module needs. */
import type { Transaction } from '../../../database/transaction.ts';
import type { Issue } from '../../../errors.ts';
import { findModule } from '../../../providers/modules.ts';
import type { Call } from '../../call.ts';
import { findVariable, toInputMember } from '../../connection/session/account-address.ts';
import type { IntegrationContent } from '../../integration/integration-content.ts';
import { createInputIssue } from '../../issues.ts';

/**
 * Returns an issue for each value that the connection lacks. Returns none without a connection, which is reported
 * elsewhere.
 */
export async function listModuleIssues(
  { catalog, tx }: Pick<Call, 'catalog'> & { tx: Pick<Transaction, 'connection'> },
  { provider: providerName, module: moduleName }: IntegrationContent,
  { projectId, connectionId }: { projectId: string; connectionId: string | null },
): Promise<Issue[]> {
  const provider = catalog.find(providerName);
  const module = provider && findModule(provider, moduleName);
  if (!module?.inputs?.length || connectionId === null) return [];
  const connection = await tx.connection.findUnique({
    where: { projectId_id: { projectId, id: connectionId } },
    select: { providerWorkspaceRef: true, providerMetadata: true },
  });
  return module.inputs
    .filter((input) => !connection || findVariable(input.name, connection) === null)
    .map((input) => {
      const detail = `is a connection that lacks ${toInputMember(input.name)}, which the module ${module.name} needs. Set it with updateConnection.`;
      return createInputIssue(['input', 'connectionId'], detail, connectionId);
    });
}
