/** Below a live list: the button that loads older entries. */
import { Action } from './form.tsx';
import type { Live } from './use-live.ts';

export function Older<Item>({ of }: { of: Live<Item> }) {
  if (!of.hasOlder) return null;
  return (
    <div className="more">
      <span className="quiet">The last {of.items.length.toLocaleString('en')}</span>
      <Action isPending={of.isLoadingOlder} onPress={of.readOlder}>
        Show older
      </Action>
    </div>
  );
}
