/** From the domain's config to the one that the platform writes. */

import { z } from 'zod';
import {
  type ConfigContent,
  configOf,
  type ReadConfig,
} from '../../../domain/installation/installation-config.ts';
import type { Row } from '../../../domain/scope.ts';
import { createdShape, resource } from '../../openapi/schemas.ts';
import { showFieldSettings } from './config-field-settings.ts';
import { configOutput } from './config-shape.ts';

const content = resource('InstallationConfigContent', 'The choices of the customer.', configOutput);

export const installationConfig = resource(
  'InstallationConfig',
  'The config of an installation. A config never changes: an update creates a new one.',
  {
    id: createdShape.id,
    revisionId: z.string().describe('The latest revision of the integration: the one in force.'),
    createTime: createdShape.createTime,
    createdBy: z
      .string()
      .describe('Who chose it, in words of the caller; else who created the installation.'),
    content,
  },
);

interface About {
  provider: string;
  revisionId: string;
  /** Who created the installation. */
  createdBy: string;
}

export function showInstallationConfig(
  row: Row<'InstallationConfig'>,
  { provider, revisionId, createdBy }: About,
) {
  const { id, createTime } = row;
  return {
    id,
    revisionId,
    createTime,
    createdBy: row.createdBy ?? createdBy,
    content: { provider, ...showConfig(configOf(row)) },
  };
}

export function showConfig({ read, write, proxy }: ConfigContent) {
  return {
    read: { objects: Object.fromEntries(read.map((one) => [one.objectName, showReadObject(one)])) },
    write: {
      objects: Object.fromEntries(
        write.map(({ objectName, deletionEnabled: enabled, fields = [] }) => [
          objectName,
          {
            objectName,
            deletionSettings: { enabled },
            selectedFieldSettings: fields.length > 0 ? showFieldSettings(fields) : undefined,
          },
        ]),
      ),
    },
    proxy: proxy ? { enabled: proxy.enabled } : undefined,
  };
}

function showReadObject({ objectName, selectedFields, fieldMappings, ...choice }: ReadConfig) {
  const { schedule, destination, disabled, backfill } = choice;
  return {
    objectName,
    selectedFields: Object.fromEntries(selectedFields.map((name) => [name, true])),
    selectedFieldMappings: Object.fromEntries(
      fieldMappings.map(({ mapToName, fieldName }) => [mapToName ?? '', fieldName ?? '']),
    ),
    schedule: schedule ?? undefined,
    destination: destination ?? undefined,
    disabled,
    backfill: backfill
      ? {
          defaultPeriod: {
            days: backfill.days ?? undefined,
            fullHistory: backfill.fullHistory ?? undefined,
          },
        }
      : undefined,
  };
}
