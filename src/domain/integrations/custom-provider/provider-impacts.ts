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
import {
  describeOtherTargets,
  findTargets,
} from '../../connections/provider/credential-targets.ts';
import type { Impact, Impacts } from '../installation/check/impacts.ts';
import { findImpacts, iterateInstallations } from '../installation/check/revision-impacts.ts';
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
}

export interface ProviderImpacts {
  impacts: Impact[];
  /** The integrations whose content is invalid with the new document, each with the reasons. */
  brokenIntegrations: Text[];
  /** The number of connections that must be connected again. */
  suspendedConnections: number;
}

/** Sends no request to the provider. */
export async function findProviderImpacts(
  tx: Transaction,
  { projectId, before, after }: ProviderChange,
): Promise<ProviderImpacts> {
  const catalogs = {
    catalog: createCatalog([after]),
    catalogBefore: createCatalog(before ? [before] : []),
  };
  const integrations = await tx.integration.findMany({
    where: { projectId, provider: after.name },
    orderBy: { id: 'asc' },
  });
  const result: ProviderImpacts = {
    impacts: [],
    brokenIntegrations: [],
    suspendedConnections: await tx.connection.count({ where: toSuspended(projectId, after) }),
  };
  for (const integration of integrations) {
    const content = await readLatestContent(tx, integration);
    const { impacts } = await findImpacts(catalogs, tx, {
      projectId,
      integrationId: integration.id,
      integrationName: integration.name,
      before: content,
      content,
    });
    const reasons = listNewReasons(content, catalogs);
    result.brokenIntegrations.push(
      ...reasons.map((reason) => text`${integration.name}: ${reason}`),
    );
    const isSuspended = findTargets(before) !== findTargets(after);
    await addReasons(tx, impacts, {
      integration,
      reasons: [...reasons, ...(isSuspended ? [describeOtherTargets(after)] : [])],
    });
    result.impacts.push(...impacts.list());
  }
  return result;
}

async function readLatestContent(
  tx: Transaction,
  { projectId, latestRevisionId: id }: Row<'Integration'>,
): Promise<IntegrationContent> {
  const where = { projectId_id: { projectId, id } };
  return readIntegrationContent(await tx.revision.findUniqueOrThrow({ where }));
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

async function addReasons(
  tx: Transaction,
  impacts: Impacts,
  { integration, reasons }: { integration: Row<'Integration'>; reasons: readonly Text[] },
): Promise<void> {
  if (reasons.length === 0) return;
  const { projectId, id: integrationId } = integration;
  for await (const batch of iterateInstallations(tx, { projectId, integrationId })) {
    for (const { installation } of batch) {
      for (const reason of reasons) impacts.add(installation, { path: [], reason });
    }
  }
}
