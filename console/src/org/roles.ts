/** The roles of an org's members, as choices. */
import type { OrgRole } from '../../__generated__/enums.ts';

type Role = (typeof OrgRole)[number];

const LABELS: Record<Role, string> = { MEMBER: 'Member', ADMIN: 'Admin' };

export const ROLES = Object.entries(LABELS).map(([id, label]) => ({ id, label }));

export function formatRole(role: string): string {
  return LABELS[role as Role] ?? role;
}

/** Returns the chosen role. `MEMBER` if the form has no choice. */
export function parseRole(id: unknown): Role {
  return id === 'ADMIN' ? 'ADMIN' : 'MEMBER';
}
