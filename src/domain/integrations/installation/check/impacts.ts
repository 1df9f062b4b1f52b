/** The reasons why a change breaks installations. */
import { z } from 'zod';
import type { Row } from '../../../../database/statements/tables.ts';
import { member, nameInput, type Path, type Text, text } from '../../../../kernel/text.ts';
import type { Call } from '../../../access/call.ts';
import { createRelations } from '../../../access/relations.ts';
import { byId } from '../../../access/scope.ts';
import { computed, idField, resource } from '../../../base/resource.ts';
import { printedText } from '../../../base/stored-text.ts';
import { installationConfigInput } from '../choice/installation-config-input.ts';

export const impactedInstallationResource = resource(
  'ImpactedInstallation',
  'An installation that a change breaks.',
  {
    installationId: idField.describe('The id of the installation.'),
    groupId: idField.describe('The id of the group that installed it.'),
    groupRef: computed(
      z
        .string()
        .nullable()
        .describe("The builder's own id for the group. {Null} if the group was erased since."),
      async ({ groupId }: { groupId: string }, call: Call) =>
        (await createRelations(call).find(byId('Group'), groupId))?.groupRef ?? null,
    ),
  },
);

export const impactResource = resource(
  'Impact',
  'A reason why a change breaks installations: their config is valid for the active revision but not for the new one, or their account lacks a field that becomes required.',
  {
    integrationName: z.string().describe('The name of the integration.'),
    path: printedText(
      'path',
      z
        .string()
        .describe(
          'The part of the config, like `proxy.enabled`. Empty for the whole installation.',
        ),
    ),
    reason: printedText('reason', z.string().describe('The human-readable reason.')),
    installationTotal: z.int().describe('The number of installations of the integration.'),
    installations: z
      .array(impactedInstallationResource)
      .describe('The installations that break for this reason, at most 10,000.'),
  },
);

/** An impact as plans store it. The refs of groups are read when it is shown, because a group may be erased. */
export interface Impact
  extends Omit<z.output<typeof impactResource>, 'path' | 'reason' | 'installations'> {
  /** Names the part of the config. Plans of earlier versions have the domain's name. */
  path: Text;
  reason: Text;
  installations: { installationId: string; groupId: string }[];
}

/** The maximum number of installations that the impacts of one integration list. */
const LISTED_INSTALLATIONS_MAX = 10_000;

/** The input in which impacts name members. */
const CONFIG = installationConfigInput.meta()?.id;

/** Collects impacts: installations with equal reasons are one impact. */
export class Impacts {
  readonly #integrationName: string;
  readonly #impactsByReason = new Map<string, Impact>();
  #listedCount = 0;
  installationTotal = 0;

  constructor(integrationName: string) {
    this.#integrationName = integrationName;
  }

  add(
    { id: installationId, groupId }: Pick<Row<'Installation'>, 'id' | 'groupId'>,
    { path, reason }: { path: Path; reason: Text },
  ): void {
    if (this.#listedCount >= LISTED_INSTALLATIONS_MAX) return;
    this.#listedCount += 1;
    const named = {
      path: path.length === 0 ? '' : nameInput(text`${member(...path)}`, CONFIG),
      reason: nameInput(reason, CONFIG),
    };
    const key = JSON.stringify(named);
    const impact = this.#impactsByReason.get(key) ?? {
      integrationName: this.#integrationName,
      ...named,
      installationTotal: 0,
      installations: [],
    };
    impact.installations.push({ installationId, groupId });
    this.#impactsByReason.set(key, impact);
  }

  list(): Impact[] {
    const { installationTotal } = this;
    return [...this.#impactsByReason.values()].map((impact) => ({ ...impact, installationTotal }));
  }
}
