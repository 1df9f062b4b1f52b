/** Updates an installation by a mask, and one object of its config by JSON Patch. */
import { applyPatch } from 'rfc6902';
import { z } from 'zod';
import { createInputIssue } from '../../../domain/base/issues.ts';
import { boundedName, projectIdOrName, ref } from '../../../domain/base/names.ts';
import { getInstallationOfGroup } from '../../../domain/integrations/installation/installation.ts';
import {
  installationKeyInput,
  updateInstallationInput,
} from '../../../domain/integrations/installation/installation-input.ts';
import { updateInstallation } from '../../../domain/integrations/installation/installation-update.ts';
import { integrationIdOrName } from '../../../domain/integrations/integration/integration.ts';
import { invalid, invalidInput, notFound } from '../../../kernel/errors.ts';
import { id } from '../../../kernel/ids.ts';
import { endpoint, type RestRequest } from '../../endpoint/endpoint.ts';
import { getValue, withValue } from '../../endpoint/mask.ts';
import { integrationInPath } from '../../endpoint/request-form.ts';
import { configForm } from './config/config-form.ts';
import {
  changeInstallation,
  MASK_MAX,
  parseMask,
  pickNamedValues,
  requireValue,
} from './config/revise-config.ts';
import { installation } from './installation-view.ts';

const tag = 'Installations';
const integrationPath = '/projects/{projectIdOrName}/integrations/{integrationId}';

const { connectionId, configCreatedBy, skipSampling } = updateInstallationInput.shape;

const updateInput = z.object({
  ...installationKeyInput.shape,
  integrationIdOrName,
  skipSampling,
  updateMask: z
    .array(z.union([z.enum(['connectionId', 'config.content']), z.string().max(2_048)]))
    .min(1, 'must name at least one field.')
    .max(MASK_MAX)
    .describe(
      'The paths of the fields to change, such as connectionId, config.createdBy, or config.content.read.objects.<name> and the paths below it. Dots separate names. A dot or a colon in a name needs a backslash before it. Values of other fields are ignored.',
    ),
  installation: z
    .looseObject({
      connectionId,
      config: z
        .looseObject({
          createdBy: configCreatedBy,
          content: z
            .looseObject(configForm.schema.shape)
            .optional()
            .describe('The choices. Choices that updateMask does not name are unchanged.'),
        })
        .optional()
        .describe('The new values of the config.'),
    })
    .describe('The new values of the fields that updateMask names.'),
});

const INVALID_PATH = 'must be a JSON Pointer to a member that the config of the object has.';

const patchOperation = z
  .strictObject({
    op: z.enum(['add', 'remove', 'replace']).describe('The operation at the path.'),
    path: z.string().max(2_048).describe('A JSON Pointer in the config of the object.'),
    value: z.unknown().optional().describe('The new value. Not used by `remove`.'),
  })
  .describe('A change in the format of JSON Patch (RFC 6902).');

const patchInput = z.object({
  projectIdOrName,
  integrationIdOrName,
  objectName: boundedName.describe('The name of the object in the config.'),
  groupRef: ref.optional().describe('The ref of the group that has the installation.'),
  installationId: id.optional().describe('The id of the installation, instead of groupRef.'),
  action: z.enum(['read', 'subscribe', 'write']).describe('The part of the config.'),
  changes: z.array(patchOperation).min(1).max(MASK_MAX).describe('The changes, in order.'),
});

export const updateInstallationEndpoints = [
  endpoint({
    id: 'updateInstallation',
    method: 'PATCH',
    path: `${integrationPath}/installations/{installationId}`,
    tag,
    summary: updateInstallation.description,
    description:
      'Sets the members of the config that updateMask names. All other members are unchanged.',
    needs: updateInstallation.needs,
    input: updateInput,
    locations: { ...integrationInPath, skipSampling: { in: 'query', name: 'skipSampling' } },
    status: 200,
    resource: installation,
    rewrite: ({ body, ...parts }) => ({ ...parts, body: dropUnnamedValues(body) }),
    run: updateByMask,
  }),
  endpoint({
    id: 'patchInstallationConfig',
    method: 'PATCH',
    path: `${integrationPath}/objects/{objectName}/config-content`,
    tag,
    summary: "Changes an installation's config for one object, by JSON Patch.",
    needs: updateInstallation.needs,
    input: patchInput,
    locations: integrationInPath,
    status: 200,
    resource: installation,
    run: patchObject,
  }),
];

/** Removes values that the mask does not name, so that they are not validated. */
function dropUnnamedValues(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('installation' in body)) return body;
  const { updateMask } = body as { updateMask?: unknown };
  const { installation: values } = body;
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return body;
  return { ...body, installation: pickNamedValues(values, updateMask) };
}

/** Sets the values that the mask names. `dropUnnamedValues` has removed all other values from the input. */
async function updateByMask(
  request: RestRequest,
  { updateMask, installation: values, skipSampling, ...key }: z.output<typeof updateInput>,
) {
  const paths = parseMask(updateMask);
  const changedValues = paths.map((path) => ({ path, value: requireValue(values, path) }));
  const configChanges = changedValues.flatMap(({ path: [first, second, ...below], value }) => {
    if (first !== 'config' || second === 'createdBy') return [];
    return [{ path: below, value: second ? value : requireValue(values, ['config', 'content']) }];
  });
  const applyChanges = (currentConfig: unknown) =>
    configChanges.reduce<unknown>(
      (config, { path, value }) => withValue(config, path, value),
      currentConfig,
    );
  return changeInstallation(request, {
    key,
    otherChanges: {
      connectionId: values.connectionId,
      configCreatedBy: values.config?.createdBy,
      skipSampling,
    },
    revise: configChanges.length > 0 ? applyChanges : undefined,
    locate: (path) => ['installation', 'config', 'content', ...path],
  });
}

async function patchObject(request: RestRequest, input: z.output<typeof patchInput>) {
  const { objectName, action, changes, ...key } = input;
  return changeInstallation(request, {
    key: { ...key, installationId: await getInstallationId(request, input) },
    revise: (currentConfig) => {
      const object = getValue(currentConfig, [action, 'objects', objectName]);
      if (!object) throw notFound(`The object in the ${action} config`, objectName);
      const patchedObject = createPatchedCopy(object, changes);
      return withValue(currentConfig, [action, 'objects', objectName], patchedObject);
    },
    locate: () => ['changes'],
  });
}

async function getInstallationId(
  { call }: RestRequest,
  { groupRef, installationId, ...key }: z.output<typeof patchInput>,
): Promise<string> {
  if ((groupRef === undefined) === (installationId === undefined)) {
    throw invalid(['groupRef'], 'or installationId is required, but not both.');
  }
  if (installationId !== undefined) return installationId;
  return (await getInstallationOfGroup(call, { ...key, groupRef: groupRef as string })).id;
}

/** Throws BAD_USER_INPUT with an issue for each change that fails. */
function createPatchedCopy(
  object: unknown,
  changes: z.output<typeof patchInput>['changes'],
): unknown {
  const holder = { object: structuredClone(object) };
  const holderChanges = changes.map((change) => ({ ...change, path: `/object${change.path}` }));
  const failures = applyPatch(holder, holderChanges as Parameters<typeof applyPatch>[1]);
  const issues = failures.flatMap((failure, index) =>
    failure
      ? [createInputIssue(['changes', index, 'path'], INVALID_PATH, changes[index]?.path)]
      : [],
  );
  if (issues.length > 0) throw invalidInput(issues);
  return holder.object;
}
