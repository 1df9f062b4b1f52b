/** Lists the values that connecting an account for an integration needs besides credentials and workspace. */
import type { Row } from '../../../database/statements/tables.ts';
import { listModuleInputs } from '../../../providers/modules.ts';
import { load } from '../../access/batched.ts';
import type { Call } from '../../access/call.ts';
import { findProviderOf } from '../../access/catalog.ts';
import { type Batch, byId } from '../../access/scope.ts';
import type { ProviderInput } from '../../connections/provider/provider.ts';
import { readIntegrationContent } from './integration-content.ts';

/** Returns the inputs of the provider and of the module of the latest revision. Empty if the provider does not exist. */
export const listConnectInputs = (
  call: Call,
  integration: Row<'Integration'>,
): Promise<ProviderInput[]> => load(call, loadConnectInputs, integration);

const loadConnectInputs: Batch<Row<'Integration'>, ProviderInput[]> = async (
  call,
  integrations,
) => {
  const revisionIds = integrations.map(({ latestRevisionId }) => latestRevisionId);
  const [providers, revisions] = await Promise.all([
    Promise.all(integrations.map((integration) => findProviderOf(call, integration))),
    byId('Revision')(call, revisionIds),
  ]);
  return providers.map((provider, index) => {
    const revision = revisions[index];
    return provider && revision
      ? listModuleInputs(provider, readIntegrationContent(revision).module)
      : [];
  });
};
