import type { Call } from './call.ts';
import { listPage, type PageArgs } from './page.ts';

/** Pending invites to a builder's own address, of any org; none for an API key. */
export function listInvitesToViewer(call: Call, args: PageArgs) {
  const { viewer } = call;
  const pendingEmail = viewer.kind === 'BUILDER' ? viewer.email : null;
  return listPage(call, { name: 'Viewer.invites', table: 'Invite', where: { pendingEmail } }, args);
}
