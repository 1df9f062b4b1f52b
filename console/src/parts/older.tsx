/** The button below a live list that loads older entries. */
import { Action } from './form.tsx';
import type { Live } from './use-live.ts';

export function Older<Item>({ live }: { live: Live<Item> }) {
  if (!live.hasOlder) return null;
  return (
    <div className="more">
      <span className="quiet">The last {live.items.length.toLocaleString('en')}</span>
      <Action isPending={live.isLoadingOlder} onPress={live.readOlder}>
        Show older
      </Action>
    </div>
  );
}
