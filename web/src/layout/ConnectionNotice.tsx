import { useSyncExternalStore } from 'react'
import { isConnected, onConnection } from '../api/connection.ts'
import { t } from '../language/t.ts'

/** What is on the page may be old, and acts fail at once. */
export function ConnectionNotice() {
  const isThere = useSyncExternalStore(onConnection, isConnected)
  return (
    // Always there, so that screen readers announce its text.
    <div role="status" className="sticky top-0 z-20">
      {!isThere && (
        <p className="bg-ink px-4 py-2 text-center text-sm font-medium text-canvas">
          {t('Sem conexão. O que você vê pode ter mudado, e nada é enviado até ela voltar.')}
        </p>
      )}
    </div>
  )
}
