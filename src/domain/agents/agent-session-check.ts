/** Checks that the rules and the tools of an agent session need only rights that the session has. */
import type { z } from 'zod';
import type { Row } from '../../database/statements/tables.ts';
import type { Issue } from '../../kernel/errors.ts';
import { enumValue, text } from '../../kernel/text.ts';
import type { Call } from '../access/call.ts';
import type { AgentVerb, PinnedTool } from '../access/viewer/agent-grant.ts';
import { createInputIssue } from '../base/issues.ts';
import { readIntegrationsContract } from '../data/contract/read-contract.ts';
import { listVisibleIntegrations } from '../data/contract/visible-contract.ts';
import type { approvalRule } from './approval-rule.ts';

const NOT_A_VERB = 'must be one of the verbs of the session.';
const NOT_AN_OBJECT = 'must be an object of the session.';

interface RequestedRights {
  /** The builder's names of the objects. Null means all objects of the group. */
  objects?: readonly string[] | null | undefined;
  verbs: readonly AgentVerb[];
  rules: readonly z.output<typeof approvalRule>[];
  pinnedTools: readonly PinnedTool[];
}

/** Returns an issue for each verb, rule and tool that needs a right that the session does not have. */
export function* listRightIssues(input: RequestedRights): Generator<Issue> {
  const { verbs } = input;
  const needsCurrentValues = verbs.some((verb) => verb === 'UPDATE' || verb === 'DELETE');
  if (needsCurrentValues && !verbs.includes('READ')) {
    const detail = text`must include ${enumValue('READ')} for ${enumValue('UPDATE')} and ${enumValue('DELETE')}, whose proposals show the current values.`;
    yield createInputIssue(['verbs'], detail);
  }
  yield* listRuleIssues(input);
  yield* listToolIssues(input);
}

function* listRuleIssues({ objects, verbs, rules }: RequestedRights): Generator<Issue> {
  for (const [index, { name, types, fields, objects: ruleObjects }] of rules.entries()) {
    const path = ['rules', index];
    if (rules.findIndex((rule) => rule.name === name) < index) {
      const detail = 'must not be the name of an earlier rule.';
      yield createInputIssue([...path, 'name'], detail, name);
    }
    for (const [typeIndex, type] of types.entries()) {
      const typePath = [...path, 'types', typeIndex];
      if (type === 'DELETE' && fields != null) {
        const detail = text`must not be ${enumValue('DELETE')} in a rule with fields: a deletion sets none.`;
        yield createInputIssue(typePath, detail, type);
      }
      if (!verbs.includes(type)) yield createInputIssue(typePath, NOT_A_VERB, type);
    }
    for (const [objectIndex, object] of (ruleObjects ?? []).entries()) {
      if (objects == null || objects.includes(object)) continue;
      yield createInputIssue([...path, 'objects', objectIndex], NOT_AN_OBJECT, object);
    }
  }
}

function* listToolIssues({ objects, verbs, pinnedTools }: RequestedRights): Generator<Issue> {
  for (const [index, { type, objectName: object }] of pinnedTools.entries()) {
    const path = ['pinnedTools', index];
    const firstIndex = pinnedTools.findIndex(
      (tool) => tool.type === type && tool.objectName === object,
    );
    if (firstIndex < index) yield createInputIssue(path, 'must not repeat an earlier tool.');
    if (!verbs.includes(type)) yield createInputIssue([...path, 'type'], NOT_A_VERB, type);
    if (objects == null || objects.includes(object)) continue;
    yield createInputIssue([...path, 'objectName'], NOT_AN_OBJECT, object);
  }
}

/**
 * Returns an issue for each object that no integration of the project has. Checks the objects of the session, or the
 * objects of its rules and tools if the session is for all objects.
 */
export async function listUnknownObjectIssues(
  call: Call,
  { id: projectId }: Row<'Project'>,
  input: RequestedRights,
): Promise<Issue[]> {
  const { objects, rules, pinnedTools } = input;
  const references = objects
    ? objects.map((name, index) => ({ path: ['objects', index], name }))
    : [
        ...rules.flatMap((rule, index) =>
          (rule.objects ?? []).map((name, objectIndex) => ({
            path: ['rules', index, 'objects', objectIndex],
            name,
          })),
        ),
        ...pinnedTools.map(({ objectName: name }, index) => ({
          path: ['pinnedTools', index, 'objectName'],
          name,
        })),
      ];
  if (references.length === 0) return [];
  const integrations = await listVisibleIntegrations(call, projectId);
  const contract = await readIntegrationsContract(call, integrations);
  const objectNames = new Set(contract.objects.map(({ name }) => name));
  return references
    .filter(({ name }) => !objectNames.has(name))
    .map(({ path, name }) =>
      createInputIssue([...path], 'is not an object of an integration of the project.', name),
    );
}
