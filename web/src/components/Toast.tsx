import { createContext, use, useCallback, useMemo, useRef, useState, type ReactNode } from 'react'
import { classNames } from '../lib/class-names.ts'

type Tone = 'success' | 'danger'
type ShowToast = (text: string, tone?: Tone) => void

interface Shown {
  readonly id: number
  readonly text: string
  readonly tone: Tone
}

/** Errors stay longer, so that they can be read. */
const SHOWN_MS: Record<Tone, number> = { success: 4000, danger: 10_000 }

const ToastContext = createContext<ShowToast>(() => {})

/** `const toast = useToast()`; `toast('Chave revogada.')`. */
export function useToast(): ShowToast {
  return use(ToastContext)
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<readonly Shown[]>([])
  const lastId = useRef(0)
  const show = useCallback<ShowToast>((text, tone = 'success') => {
    const id = ++lastId.current
    setShown((before) => [...before.slice(-2), { id, text, tone }])
    setTimeout(() => setShown((before) => before.filter((each) => each.id !== id)), SHOWN_MS[tone])
  }, [])
  const regions = useMemo(
    () =>
      (['success', 'danger'] as const).map(
        (tone) => [tone, shown.filter((each) => each.tone === tone)] as const,
      ),
    [shown],
  )
  return (
    <ToastContext value={show}>
      {children}
      <div className="pointer-events-none fixed inset-x-0 bottom-20 z-50 flex flex-col items-center gap-2 px-4 md:bottom-6">
        {regions.map(([tone, toasts]) => (
          <div
            key={tone}
            role={tone === 'danger' ? 'alert' : 'status'}
            className="flex flex-col items-center gap-2"
          >
            {toasts.map(({ id, text }) => (
              <p
                key={id}
                className={classNames(
                  'pointer-events-auto max-w-md rounded-lg px-4 py-3 text-sm font-medium shadow-lg',
                  tone === 'danger' ? 'bg-danger text-on-danger' : 'bg-ink text-canvas',
                )}
              >
                {text}
              </p>
            ))}
          </div>
        ))}
      </div>
    </ToastContext>
  )
}
