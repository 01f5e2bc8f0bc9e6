import { base32, totpUri } from '../../sign-in/totp.ts'

/** For the app: as a picture to be scanned, and as text to be typed. */
export async function drawSecret(
  secret: Buffer,
  account: string,
): Promise<{ secret: string; uri: string; qrPng: string }> {
  const uri = totpUri(secret, account)
  const { toBuffer } = await import('qrcode')
  const png = await toBuffer(uri, { errorCorrectionLevel: 'M', margin: 2, width: 320 })
  return { secret: base32(secret), uri, qrPng: png.toString('base64') }
}
