/** Changes an installation's config in the reference API's form. */

import { createInputIssue, toIssues } from '../../../../domain/base/issues.ts';
import type { ConfigInput } from '../../../../domain/integrations/installation/choice/installation-config-input.ts';
import { getInstallationByKey } from '../../../../domain/integrations/installation/installation.ts';
import type { ConfigContent } from '../../../../domain/integrations/installation/installation-config.ts';
import {
  reviseInstallation,
  updateInstallation,
} from '../../../../domain/integrations/installation/installation-update.ts';
import type { IntegrationKey } from '../../../../domain/integrations/integration/integration.ts';
import { DomainError, invalidInput } from '../../../../kernel/errors.ts';
import type { PathMove } from '../../../../kernel/text.ts';
import { parseBounded } from '../../../../work/bounded-parse.ts';
import type { RestRequest } from '../../../endpoint/endpoint.ts';
import { getValue, type Path, pickValues, suggestNames } from '../../../endpoint/mask.ts';
import { configForm } from './config-form.ts';

/** The maximum number of paths in a mask, and of operations in a JSON Patch. Valid requests need far fewer. */
export const MASK_MAX = 1_000;

const MEMBER_PATHS = [
  'connectionId',
  'config',
  'config.createdBy',
  'config.content',
  'config.content.proxy.enabled',
];
/** A mask may name these paths and the paths below them. */
const OBJECTS_PATHS = [
  'config.content.read.objects',
  'config.content.write.objects',
  'config.content.subscribe.objects',
];
const ALLOWED_PATHS = [...MEMBER_PATHS, ...OBJECTS_PATHS.map((path) => `${path} and below`)];

function isAllowed(mask: string): boolean {
  const isAtOrBelow = (path: string) => mask === path || mask.startsWith(`${path}.`);
  return MEMBER_PATHS.includes(mask) || OBJECTS_PATHS.some(isAtOrBelow);
}

/** Returns the paths that an updateMask names. Throws BAD_USER_INPUT if one is not allowed. */
export function parseMask(updateMask: readonly string[]): Path[] {
  const issues = updateMask.flatMap((mask, index) =>
    isAllowed(mask)
      ? []
      : [
          createInputIssue(
            ['updateMask', index],
            `must be one of ${ALLOWED_PATHS.join(', ')}.`,
            mask,
          ),
        ],
  );
  if (issues.length > 0) throw invalidInput(issues, suggestNames(issues, ALLOWED_PATHS));
  return updateMask.map(splitMask);
}

/** Splits a path at its dots. A backslash escapes a dot or a colon in a name. */
function splitMask(mask: string): string[] {
  return (mask.match(/(?:\\.|[^.\\])+/gs) ?? []).map((part) => part.replace(/\\(.)/gs, '$1'));
}

/**
 * Returns a copy with only the values that the mask names. An invalid mask, which validation refuses, keeps all values.
 */
export function pickNamedValues(values: unknown, updateMask: unknown): unknown {
  const isMask = Array.isArray(updateMask) && updateMask.length <= MASK_MAX;
  if (!isMask || !updateMask.every((name) => typeof name === 'string')) return values;
  return pickValues(values, updateMask.map(splitMask));
}

/** Returns the value at a path that the mask names. Throws BAD_USER_INPUT if there is none. */
export function requireValue(values: unknown, path: Path): unknown {
  const value = getValue(values, path);
  if (value !== undefined) return value;
  const detail = 'is required, because updateMask names it.';
  throw invalidInput([createInputIssue(['installation', ...path], detail)]);
}

interface InstallationChange {
  key: IntegrationKey & { installationId: string };
  /** Changes to other members than the content of the config. */
  otherChanges?: { connectionId?: string; configCreatedBy?: string; skipSampling?: boolean };
  /** Returns the new config. Absent if the config does not change. */
  revise?: (currentConfig: unknown) => unknown;
  /** Returns the path in the request for a path inside the config in the reference API's form. */
  locate: PathMove;
}

/**
 * Updates an installation. Throws NOT_FOUND if it belongs to another integration, and BAD_USER_INPUT with locations in
 * the request.
 */
export async function changeInstallation(
  { call }: RestRequest,
  { key, otherChanges, revise, locate }: InstallationChange,
) {
  await getInstallationByKey(call, key);
  const { projectIdOrName, installationId } = key;
  const input = { projectIdOrName, installationId, skipSampling: false, ...otherChanges };
  if (!revise) return updateInstallation(call, input);
  let revisedConfig: unknown;
  const reviseConfig = (currentContent: ConfigContent) => {
    revisedConfig = parseRevisedConfig(revise(toWire(currentContent)), locate);
    return configForm.decode(revisedConfig) as ConfigInput;
  };
  try {
    return await reviseInstallation(call, { ...input, revise: reviseConfig });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw error.move(([member, ...inside]) => {
      if (member === 'config') return locate(configForm.locate(revisedConfig, inside));
      return member === 'connectionId' ? ['installation', member] : [member as string, ...inside];
    });
  }
}

function parseRevisedConfig(config: unknown, locate: InstallationChange['locate']): object {
  const { data, error } = parseBounded(configForm.schema, config);
  if (data) return data;
  // The stored config has values that the request does not contain.
  const issues = toIssues(error, config, configForm.schema).map(
    ({ value: _stored, ...issue }) => issue,
  );
  throw invalidInput(issues).move(locate);
}

/** Returns the config in the reference API's form, without members that are undefined. */
function toWire(content: ConfigContent): unknown {
  return JSON.parse(JSON.stringify(configForm.encode(content)));
}
