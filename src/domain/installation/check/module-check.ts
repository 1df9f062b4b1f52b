/** Checks that a connection has the metadata that the integration's module needs. */
import type { Transaction } from '../../../database/transaction.ts';
import type { Issue } from '../../../errors.ts';
import { findModule } from '../../../providers/modules.ts';
import type { Call } from '../../call.ts';
import { factName, findFact } from '../../connection/session/account-address.ts';
import type { IntegrationContent } from '../../integration/integration-content.ts';
import { issueAt } from '../../issues.ts';

/** One issue for each value that the connection lacks. No issues without a connection, which is reported elsewhere. */
export async function listModuleIssues(
  { catalogue, tx }: Pick<Call, 'catalogue'> & { tx: Pick<Transaction, 'connection'> },
  { provider: providerName, module: moduleName }: IntegrationContent,
  { projectId, connectionId }: { projectId: string; connectionId: string | null },
): Promise<Issue[]> {
  const provider = catalogue.find(providerName);
  const { inputs = [], name } = (provider && findModule(provider, moduleName)) ?? { name: null };
  if (inputs.length === 0 || connectionId === null) return [];
  const connection = await tx.connection.findUnique({
    where: { projectId_id: { projectId, id: connectionId } },
    select: { providerWorkspaceRef: true, providerMetadata: true },
  });
  return inputs
    .filter((input) => !connection || findFact(input.name, connection) === null)
    .map((input) => {
      const lacking = `lacks ${factName(input.name)}, which the module ${name} needs.`;
      const detail = `is a connection that ${lacking} Set it by updateConnection.`;
      return issueAt(['input', 'connectionId'], detail, connectionId);
    });
}
