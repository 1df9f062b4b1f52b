/** Converts a config of the domain to the reference API's form. */
import { z } from 'zod';
import type { Call } from '../../../domain/call.ts';
import {
  type ConfigContent,
  installationConfigResource,
  type ReadConfig,
  readConfigContent,
} from '../../../domain/installation/installation-config.ts';
import {
  type IntegrationContent,
  readIntegrationContent,
} from '../../../domain/integration/integration-content.ts';
import { createRelations } from '../../../domain/relations.ts';
import { resource } from '../../../domain/resource.ts';
import { byId, type Row } from '../../../domain/scope.ts';
import { extendResource } from '../../openapi/shown-resource.ts';
import { showFieldSettings } from './config-field-settings.ts';
import { showDynamicMappings, showFilters, showValueMappings } from './config-mappings.ts';
import { configOutput } from './config-shape.ts';
import { showSubscribeObject } from './config-subscribe.ts';

/** Configs in responses. The content is in the reference API's form. */
export const installationConfig = extendResource(installationConfigResource, {
  read: null,
  write: null,
  subscribe: null,
  proxy: null,
  revisionId: z.string().describe('The latest revision of the integration: the one in force.'),
  createdBy: z
    .string()
    .describe("The author in the caller's words, or the caller who created the installation."),
  content: resource('InstallationConfigContent', 'The choices of the customer.', configOutput),
});

/** Returns the config of an installation, with what it leaves to the integration. */
export async function readConfig(
  { configId, integrationId, createdBy }: Row<'Installation'>,
  call: Call,
) {
  const { get } = createRelations(call);
  const [row, { latestRevisionId: revisionId, provider }] = await Promise.all([
    get(byId('InstallationConfig'), configId),
    get(byId('Integration'), integrationId),
  ]);
  const config = readConfigContent(row);
  // Only such a config needs the content, which is large.
  const content = leavesEventsToIntegration(config)
    ? readIntegrationContent(await get(byId('Revision'), revisionId))
    : null;
  return {
    ...row,
    revisionId,
    createdBy: row.createdBy ?? createdBy,
    content: { provider, ...showConfig(config), subscribe: showEvents(config, content) },
  };
}

/** True if a response must take members from the integration that it always contains. */
function leavesEventsToIntegration({ subscribe = [] }: ConfigContent): boolean {
  return subscribe.some(
    ({ destination, inheritFieldsAndMapping: inherits }) =>
      destination === null || inherits === null,
  );
}

/** Completes the config's choices of events with those of the integration. */
function showEvents({ subscribe = [] }: ConfigContent, told: IntegrationContent | null) {
  if (subscribe.length === 0) return undefined;
  const named = <O extends { objectName: string }>(objects: O[] | undefined, name: string) =>
    objects?.find(({ objectName }) => objectName === name);
  const shown = subscribe.map((choice) => {
    const { objectName, destination, inheritFieldsAndMapping: inherits } = choice;
    const spec = named(told?.subscribe?.objects, objectName);
    const reading = named(told?.read?.objects, objectName);
    return {
      ...showSubscribeObject(choice),
      objectName,
      destination: destination ?? spec?.destination ?? reading?.destination ?? '',
      inheritFieldsAndMappings: inherits ?? spec?.inheritFieldsAndMapping ?? false,
    };
  });
  return { objects: Object.fromEntries(shown.map((one) => [one.objectName, one])) };
}

export function showConfig({ read, write, subscribe = [], proxy }: ConfigContent) {
  return {
    read: { objects: Object.fromEntries(read.map((one) => [one.objectName, showReadObject(one)])) },
    write: {
      objects: Object.fromEntries(
        write.map(({ objectName, deletionEnabled: enabled, fields = [] }) => [
          objectName,
          {
            objectName,
            deletionSettings: { enabled },
            ...showFieldSettings(fields),
          },
        ]),
      ),
    },
    subscribe:
      subscribe.length > 0
        ? {
            objects: Object.fromEntries(
              subscribe.map((one) => [one.objectName, showSubscribeObject(one)]),
            ),
          }
        : undefined,
    proxy: proxy ? { enabled: proxy.enabled } : undefined,
  };
}

/** Omits members that were not chosen, because the integration's values apply. */
function showReadObject({ objectName, selectedFields, fieldMappings, ...choice }: ReadConfig) {
  const { schedule, destination, disabled, backfill, selectedFieldsAuto } = choice;
  return {
    objectName,
    selectedFields: Object.fromEntries(selectedFields.map((name) => [name, true])),
    selectedFieldsAuto: selectedFieldsAuto ? ('all' as const) : undefined,
    selectedFieldMappings: Object.fromEntries(
      fieldMappings.map(({ mapToName, fieldName }) => [mapToName ?? '', fieldName ?? '']),
    ),
    schedule: schedule ?? undefined,
    destination: destination ?? undefined,
    disabled,
    backfill: backfill ? showBackfill(backfill) : undefined,
    ...unlessEmpty('selectedValueMappings', showValueMappings(choice.valueMappings)),
    ...unlessEmpty('dynamicMappingsInput', showDynamicMappings(choice.dynamicMappings)),
    ...unlessEmpty('fieldFilters', showFilters(choice.fieldFilters)),
  };
}

function showBackfill({ days, fullHistory, fieldFilters }: NonNullable<ReadConfig['backfill']>) {
  return {
    defaultPeriod: { days: days ?? undefined, fullHistory: fullHistory ?? undefined },
    ...unlessEmpty('fieldFilters', showFilters(fieldFilters)),
  };
}

function unlessEmpty<N extends string, V extends object>(name: N, value: V): { [name in N]?: V } {
  return Object.keys(value).length > 0 ? ({ [name]: value } as { [name in N]: V }) : {};
}
