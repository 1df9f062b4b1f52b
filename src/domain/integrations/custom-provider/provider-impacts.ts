/**
 * Finds the integrations and the installations that a change of a custom provider breaks: they are valid with the previous
 * document and invalid with the new one, or their accounts must be connected again.
 */

import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { member, nameInput, type Text, text } from '../../../kernel/text.ts';
import type { Provider } from '../../../providers/contract.ts';
import { type Catalog, createCatalog } from '../../access/catalog.ts';
import { toTextColumn } from '../../base/stored-text.ts';
import { describeOtherTargets } from '../../connections/provider/credential-targets.ts';
import type { Impact } from '../installation/check/impacts.ts';
import { findImpacts, findImpactsOnAll } from '../installation/check/revision-impacts.ts';
import {
  type IntegrationContent,
  readIntegrationContent,
} from '../integration/integration-content.ts';
import {
  listIssuesWithDestinations,
  listNamedDestinations,
} from '../integration/integration-content-check.ts';
import { integrationContentInput } from '../integration/integration-content-input.ts';
import { toSuspended } from './suspended-connections.ts';

interface ProviderChange {
  projectId: string;
  /** Null if the previous document can't be used. */
  before: Provider | null;
  after: Provider;
  /** The names of integrations that the same change revises or deletes. Their new contents are checked elsewhere. */
  changedIntegrations?: ReadonlySet<string>;
}

type Client = Pick<
  Transaction,
  | 'connection'
  | 'erasure'
  | 'installation'
  | 'installationConfig'
  | 'integration'
  | 'revision'
  | 'schemaWatch'
>;

export interface ProviderImpacts {
  impacts: Impact[];
  /** The integrations whose content is invalid with the new document, each with the reasons. */
  brokenIntegrations: Text[];
  /** The number of working connections that must be connected again. */
  suspendedConnections: number;
}

/** Sends no request to the provider. */
export async function findProviderImpacts(
  client: Client,
  { projectId, before, after, changedIntegrations = new Set() }: ProviderChange,
): Promise<ProviderImpacts> {
  const catalogs = {
    catalog: createCatalog([after]),
    catalogBefore: createCatalog(before ? [before] : []),
  };
  const integrations = await client.integration.findMany({
    where: { projectId, provider: after.name },
    orderBy: { id: 'asc' },
  });
  const result: ProviderImpacts = {
    impacts: [],
    brokenIntegrations: [],
    suspendedConnections: await client.connection.count({ where: toSuspended(projectId, after) }),
  };
  for (const integration of integrations) {
    const reasons: Text[] = result.suspendedConnections > 0 ? [describeOtherTargets(after)] : [];
    if (!changedIntegrations.has(integration.name)) {
      const content = await readLatestContent(client, integration);
      const revision = { ...toImpactKey(integration), before: content, after: content };
      const { impacts } = await findImpacts(catalogs, client, revision);
      result.impacts.push(...impacts.list());
      const contentReasons = listNewReasons(content, catalogs);
      result.brokenIntegrations.push(
        ...contentReasons.map((reason) => text`${integration.name}: ${reason}`),
      );
      reasons.unshift(...contentReasons);
    }
    if (reasons.length === 0) continue;
    const impacts = await findImpactsOnAll(client, toImpactKey(integration), reasons);
    result.impacts.push(...impacts.list());
  }
  return result;
}

function toImpactKey({ projectId, id: integrationId, name: integrationName }: Row<'Integration'>) {
  return { projectId, integrationId, integrationName };
}

async function readLatestContent(
  client: Pick<Transaction, 'revision'>,
  { projectId, latestRevisionId: id }: Row<'Integration'>,
): Promise<IntegrationContent> {
  const where = { projectId_id: { projectId, id } };
  return readIntegrationContent(await client.revision.findUniqueOrThrow({ where }));
}

/** Lists the issues that the content has with the new document and not with the previous one. */
function listNewReasons(
  content: IntegrationContent,
  { catalog, catalogBefore }: { catalog: Catalog; catalogBefore: Catalog },
): Text[] {
  const { name, provider } = content;
  const destinations = new Set(listNamedDestinations(content));
  const listReasons = (checkedCatalog: Catalog) =>
    listIssuesWithDestinations({ catalog: checkedCatalog }, content, {
      path: [],
      name,
      provider,
      destinations,
    }).map(({ path, detail }) =>
      nameInput(text`${member(...path)} ${detail}`, integrationContentInput.meta()?.id),
    );
  const previousReasons = new Set(listReasons(catalogBefore).map(toTextColumn));
  return listReasons(catalog).filter((reason) => !previousReasons.has(toTextColumn(reason)));
}
