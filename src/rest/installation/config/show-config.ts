/** Converts a config of the domain to the reference API's form. */

import { z } from 'zod';
import {
  type ConfigContent,
  installationConfigResource,
  type ReadConfig,
  readConfigContent,
} from '../../../domain/installation/installation-config.ts';
import type { IntegrationContent } from '../../../domain/integration/integration-content.ts';
import type { Row } from '../../../domain/scope.ts';
import { resource } from '../../openapi/schemas.ts';
import { responseOf } from '../../openapi/shown-resource.ts';
import { showFieldSettings } from './config-field-settings.ts';
import { showDynamicMappings, showFilters, showValueMappings } from './config-mappings.ts';
import { configOutput } from './config-shape.ts';
import { showSubscribeObject } from './config-subscribe.ts';

const content = resource('InstallationConfigContent', 'The choices of the customer.', configOutput);

export const installationConfig = responseOf(
  installationConfigResource,
  ({ read, write, subscribe, proxy, ...shape }) => ({
    ...shape,
    revisionId: z.string().describe('The latest revision of the integration: the one in force.'),
    createdBy: z
      .string()
      .describe("The author in the caller's words, or the caller who created the installation."),
    content,
  }),
);

interface About {
  provider: string;
  revisionId: string;
  /** The id of the builder or key that created the installation. */
  createdBy: string;
  /** Set if the config leaves members to the integration that responses always contain. */
  content: IntegrationContent | null;
}

/** True if a response must take the destination of events from the integration, because the config names none. */
export function isSilentOnEvents({ content }: Row<'InstallationConfig'>): boolean {
  const { subscribe = [] } = readConfigContent({ content });
  return subscribe.some(
    ({ destination, inheritFieldsAndMapping: inherits }) =>
      destination === null || inherits === null,
  );
}

export function showInstallationConfig(
  row: Row<'InstallationConfig'>,
  { provider, revisionId, createdBy, content: told }: About,
) {
  const { id, createTime } = row;
  const config = readConfigContent(row);
  return {
    id,
    revisionId,
    createTime,
    createdBy: row.createdBy ?? createdBy,
    content: { provider, ...showConfig(config), subscribe: showEvents(config, told) },
  };
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
