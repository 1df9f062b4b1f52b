/** How the appearance and the origins of a project appear in its document. */

import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { type ItemChange, listNeeds, type PlanTransaction } from '../../access/item-change.ts';
import { type CanonicalItem, toCanonicalItem } from '../../base/canonical.ts';
import { appName, branding, updateProject } from './project.ts';

/** A member that is new here must have the name of the row's column. */
export const appearanceItem = z.object({
  appName: appName.optional(),
  logoUrl: branding.logoUrl
    .optional()
    .describe('The https URL of the logo on the connect page, at most 2048 characters.'),
  accentColor: branding.accentColor
    .optional()
    .describe('The color of buttons and links on the connect page, like `#4f46e5`.'),
  locale: branding.locale
    .optional()
    .describe('The language of the connect page as a BCP 47 tag, like `de` or `en-GB`.'),
});

export function toCanonicalAppearance(
  values: Row<'Project'> | z.output<typeof appearanceItem>,
): CanonicalItem {
  return toCanonicalItem(appearanceItem, values);
}

export const PROJECT_NEEDS = listNeeds(updateProject, updateProject, updateProject);

/** Applies the changes of the appearance and of the origins, in one update of the project. */
export async function changeProject(
  { call, tx, projectId }: PlanTransaction,
  { appearance, origins }: { appearance: readonly ItemChange[]; origins: readonly ItemChange[] },
): Promise<void> {
  if (appearance.length + origins.length === 0) return;
  const where = { id: projectId };
  const project = await tx.project.findUniqueOrThrow({ where });
  const allowedOrigins = new Set(project.allowedOrigins);
  for (const { before, after } of origins) {
    if (after) allowedOrigins.add(String(after.origin));
    else allowedOrigins.delete(String(before?.origin));
  }
  await tx.project.update({
    where,
    data: {
      ...getValues(appearance),
      ...(origins.length > 0 && { allowedOrigins: [...allowedOrigins].sort() }),
      updateTime: call.now(),
    },
  });
}

/** Returns the changed values of the appearance. A deleted value is null. */
function getValues(changes: readonly ItemChange[]): Record<string, string | null> {
  return Object.fromEntries(
    changes.flatMap(({ before, after }) =>
      Object.keys(after ?? before ?? {}).map((name) => [name, after ? String(after[name]) : null]),
    ),
  );
}
