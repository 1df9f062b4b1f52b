import { createRoot } from 'react-dom/client';
import '../src/style/base.css';
import '../src/style/parts.css';
import './connect.css';
import { ConnectPage } from './connect-page.tsx';
import { notifyOpener } from './opener.ts';

notifyOpener({ type: 'ready' });
createRoot(document.getElementById('root') as HTMLElement).render(<ConnectPage />);
