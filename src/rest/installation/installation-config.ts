import {
  configOf,
  installationConfigInput,
} from '../../domain/installation/installation-config.ts';
import type { Row } from '../../domain/scope.ts';
import { createdShape, resource } from '../openapi/schemas.ts';
import { shownObject, withoutNulls } from '../openapi/shown.ts';

const content = resource(
  'InstallationConfigContent',
  'The choices of the customer.',
  shownObject(installationConfigInput).shape,
);

export const installationConfig = resource(
  'InstallationConfig',
  'The config of an installation. A config never changes: an update creates a new one.',
  { id: createdShape.id, content, createTime: createdShape.createTime },
);

export function showInstallationConfig(row: Row<'InstallationConfig'>) {
  return { ...row, content: withoutNulls(configOf(row)) as Record<string, unknown> };
}
