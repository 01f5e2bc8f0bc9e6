import { useEffect, useRef, useState } from 'react'

/**
 * A base64 PNG, drawn on a canvas because the content security policy allows no `data:` images. Readers who
 * cannot see it can copy the code beside it.
 */
export function QrPicture({ base64, label }: { readonly base64: string; readonly label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [hasFailed, setHasFailed] = useState(false)
  useEffect(() => {
    let isGone = false
    void draw(base64).then(
      (picture) => {
        const target = canvas.current
        if (isGone || !target) return
        target.width = picture.width
        target.height = picture.height
        target.getContext('2d')?.drawImage(picture, 0, 0)
      },
      () => setHasFailed(true),
    )
    return () => {
      isGone = true
    }
  }, [base64])
  if (hasFailed) return null
  return (
    // A white border in both themes: cameras need the contrast.
    <div className="justify-self-center self-start rounded-card border border-line bg-[#fff] p-3">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        className="block aspect-square w-52 [image-rendering:pixelated]"
      />
    </div>
  )
}

function draw(base64: string): Promise<ImageBitmap> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return createImageBitmap(new Blob([bytes], { type: 'image/png' }))
}
